/** What a demonstration with server processes does and shows. */
@NullMarked
package org.rowankv.check.demo;

import org.jspecify.annotations.NullMarked;
