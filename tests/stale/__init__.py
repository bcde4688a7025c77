"""Random functions over random state, called again and again while the state changes."""
