"""Compare multiauc with the tools people use: times, values and memory, on the same inputs in one run."""
