// SPDX-License-Identifier: Apache-2.0
module cubby/verify/porcupine

go 1.19

require github.com/anishathalye/porcupine v1.3.1
