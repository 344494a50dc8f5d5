/**
 * The area of one server: its memory, superblock, tables of segments and tenures. Contains neither entries nor
 * directories. Beside the local fabric the only package that maps memory.
 */
@NullMarked
package org.rowankv.server.area;

import org.jspecify.annotations.NullMarked;
