/**
 * The verbs by DiSNI, which is optional on the class path and needs a native library. Only the connections of {@link
 * org.rowankv.rdma.disni.DisniVerbs} and itself know its classes.
 */
@NullMarked
package org.rowankv.rdma.disni;

import org.jspecify.annotations.NullMarked;
