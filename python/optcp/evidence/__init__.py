"""Evidence for the model of TCP from outside the project: long runs, recorded cases, and the page that lists them."""
