/** Settings, templates, and the configuration of an open cache. */
@NullMarked
package org.rowankv.jcache.configuration;

import org.jspecify.annotations.NullMarked;
