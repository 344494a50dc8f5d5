/** The native client API ({@link org.rowankv.driver.RowanClient}) and the seam below it ({@link org.rowankv.driver.Session}). */
@NullMarked
package org.rowankv.driver;

import org.jspecify.annotations.NullMarked;
