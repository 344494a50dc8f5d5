/** What it takes that bytes survive: levels, forces to devices, durable files. Knows no layout. */
@NullMarked
package org.rowankv.server.durability;

import org.jspecify.annotations.NullMarked;
