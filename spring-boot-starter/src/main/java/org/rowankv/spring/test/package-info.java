/** Test support: tests of cacheable components against a store of their own. */
@NullMarked
package org.rowankv.spring.test;

import org.jspecify.annotations.NullMarked;
