"""Functions that turn texts and files, such as pictures, into vectors."""
