/* SPDX-License-Identifier: Apache-2.0 */
/* What does roads.c alone need of the places? */
#ifndef COMET_PLACE_H
#define COMET_PLACE_H

#include "tests/coverage/road.h"

#define ROAD_EXIT_BROKEN 255

/* What all places of one call of the program have in common. */
struct road_state {
	char root[128];
	char label[8]; /* of the place at hand: "017-h" */
	uid_t uid;
	bool walled;
};
extern struct road_state road_state;

void place_of(struct place *place, const struct road *road, unsigned number, enum road_side side);

/* Whether road_ready() or place_happened() left its mark, and where such marks are. */
bool place_has(const struct place *place, const char *kind);
const char *place_record(const struct place *place, const char *kind);

#endif /* COMET_PLACE_H */
