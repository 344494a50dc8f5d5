/** What the commands that look at closed stores share: how they refuse, and how they write what they found. */
@NullMarked
package org.rowankv.check.store;

import org.jspecify.annotations.NullMarked;
