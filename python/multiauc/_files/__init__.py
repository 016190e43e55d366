"""Reading predictions and costs from files, and writing files; what is wrong with a file is an error that names it.

Reading needs pyarrow (the extra ``cli``). A row of a message is counted from 1, without the header.
"""
