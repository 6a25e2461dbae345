/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as libsmartcols draws them, where it is not installed. */
#ifndef FSQ_PLAIN_TABLE_H
#define FSQ_PLAIN_TABLE_H

#include "smartcols.h"

extern const struct smartcols plain_table;

#endif
