/* SPDX-License-Identifier: Apache-2.0 */
#include "shared/errno_words.h"
