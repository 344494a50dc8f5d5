/** Sets of classes: listed, declared with their components, and known from attacks. */
@NullMarked
package org.rowankv.jcache.classes;

import org.jspecify.annotations.NullMarked;
