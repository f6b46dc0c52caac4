#!/bin/sh
# Reports to skillsd the files that Cline's tools use; Cline tells its model the answer.
skillsd hook cline || true
