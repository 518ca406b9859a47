"""The dual form: kernels at matrix speed, exact to the update, voted, averaged and budgeted."""
