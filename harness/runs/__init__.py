"""Running a plan and writing down what was measured."""
