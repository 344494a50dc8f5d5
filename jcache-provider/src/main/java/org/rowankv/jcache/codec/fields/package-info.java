/** Stored values by the names of their fields, read and changed without the application's classes. */
@NullMarked
package org.rowankv.jcache.codec.fields;

import org.jspecify.annotations.NullMarked;
