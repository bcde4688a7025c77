"""What is open and where one stands in it; nothing here draws."""
