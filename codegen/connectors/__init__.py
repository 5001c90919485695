"""What the libraries of `kit` that read and write tables are told of them."""
