// SPDX-License-Identifier: Apache-2.0
// The search adds a summary to each result by reading that page, which a browser refuses for pages that come from files. Results then
// come without summaries.
if (window.location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
