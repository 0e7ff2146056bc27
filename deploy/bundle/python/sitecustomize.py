"""Read by the bundle's Python when it starts.

What the script bin/python3 has set is for this process alone: programs that it
starts are others' or find their libraries themselves. Python for more processes
is started through the script again.
"""

import os
import sys

for _name in ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONNOUSERSITE"):
    os.environ.pop(_name, None)
sys.executable = os.path.join(sys.prefix, "bin", "python3")
