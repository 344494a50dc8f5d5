/** Change streams over TCP: cursors and subscriptions. Events of the JCache API belong to its module. */
@NullMarked
package org.rowankv.driver.stream;

import org.jspecify.annotations.NullMarked;
