/** Telling listeners what happened: in each key's order, after it has happened, with old values only where asked for. */
@NullMarked
package org.rowankv.jcache.event;

import org.jspecify.annotations.NullMarked;
