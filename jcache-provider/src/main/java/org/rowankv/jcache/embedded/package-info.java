/** Stores whose servers live in this JVM: the only room of this module that knows the servers. */
@NullMarked
package org.rowankv.jcache.embedded;

import org.jspecify.annotations.NullMarked;
