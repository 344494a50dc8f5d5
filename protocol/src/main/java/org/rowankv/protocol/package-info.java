/** Meaning of requests: operations, conditions, status codes, versions. Independent of wire formats and connections. */
@NullMarked
package org.rowankv.protocol;

import org.jspecify.annotations.NullMarked;
