# SPDX-License-Identifier: Apache-2.0
# The rules of the house, one family a file. Each rule is a function from a Tree to the findings it makes.
