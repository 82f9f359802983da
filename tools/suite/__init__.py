# SPDX-License-Identifier: Apache-2.0
# The parts of the test command, and what they share.
