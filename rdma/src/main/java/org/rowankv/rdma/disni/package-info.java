/**
 * The verbs by DiSNI, which is optional on the class path and needs a native library. Only {@link
 * org.rowankv.rdma.disni.DisniVerbs} knows its classes.
 */
@NullMarked
package org.rowankv.rdma.disni;

import org.jspecify.annotations.NullMarked;
