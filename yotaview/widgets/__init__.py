"""What the screen is made of: panes, bars, the prompt, the six views."""
