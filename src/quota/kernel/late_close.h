/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that were opened one after the other and are closed together, in one system call. */
#ifndef FSQ_LATE_CLOSE_H
#define FSQ_LATE_CLOSE_H

/* Zero: there is none. */
struct fsq_late_close {
	int first, count; /* one beside the other */
};

/** Close it some time later: with fsq_late_close_all(), or when there are many. */
void fsq_late_close(struct fsq_late_close *late, int fd);

/** Source: close_range(2) */
void fsq_late_close_all(struct fsq_late_close *late);

#endif
