"""What the book is made with: worked numbers, figures, explorables, exercises, Sphinx extensions."""
