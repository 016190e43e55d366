"""Values with uncertainty: estimates, intervals, tests, differences, bootstraps."""
