/** Calling the user's loader and writer as the JSR wants it, and threads for what runs in the background. */
@NullMarked
package org.rowankv.jcache.integration;

import org.jspecify.annotations.NullMarked;
