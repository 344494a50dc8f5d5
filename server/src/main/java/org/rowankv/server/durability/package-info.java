/** The means of durability: levels, forces to devices, durable files. Contains no layout. */
@NullMarked
package org.rowankv.server.durability;

import org.jspecify.annotations.NullMarked;
