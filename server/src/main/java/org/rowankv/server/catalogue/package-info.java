/** Which caches exist, by name and id, kept in the configuration store. */
@NullMarked
package org.rowankv.server.catalogue;

import org.jspecify.annotations.NullMarked;
