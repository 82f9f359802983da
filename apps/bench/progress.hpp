// SPDX-License-Identifier: Apache-2.0
// Prints on stderr what the run is doing: one line that is rewritten on a terminal, a line for each stage
// elsewhere.
#pragma once

#include <string>

namespace bench {

class progress {
public:
  progress();
  // A new stage of the run.
  void stage(const std::string& text);
  // A step within it: shown on a terminal only.
  void step(const std::string& text);
  // Ends the line that is being rewritten.
  void finish();

private:
  bool terminal_;
  bool open_ = false;
  double begin_;
};

} // namespace bench
