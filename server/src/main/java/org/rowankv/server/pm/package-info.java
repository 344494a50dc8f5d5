/**
 * The area of persistent memory of a server: its files and mappings, its superblock, the tables of segments and
 * tenures, and the durability verbs. The only room, beside the local fabric, that maps memory or forces it to a
 * device. Design and alternatives: {@code docs/design/01-area-and-durability.md}.
 */
@NullMarked
package org.rowankv.server.pm;

import org.jspecify.annotations.NullMarked;
