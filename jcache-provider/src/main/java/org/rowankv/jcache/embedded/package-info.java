/** Stores with servers in this JVM: the only package of this module that depends on the server. */
@NullMarked
package org.rowankv.jcache.embedded;

import org.jspecify.annotations.NullMarked;
