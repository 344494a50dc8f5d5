/** What client and server say to each other: operations, conditions, status codes, versions. Holds nothing else. */
@NullMarked
package org.rowankv.protocol;

import org.jspecify.annotations.NullMarked;
