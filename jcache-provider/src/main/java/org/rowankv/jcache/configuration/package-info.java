/** What can be set, where it is set, and what a cache's configuration looks like once it is open. */
@NullMarked
package org.rowankv.jcache.configuration;

import org.jspecify.annotations.NullMarked;
