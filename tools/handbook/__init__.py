# SPDX-License-Identifier: Apache-2.0
# The documentation as a website: pages, navigation, the reference from the headers, and a test in a browser.
