"""What runs in processes of their own: a program for each system that Penstock is compared with."""
