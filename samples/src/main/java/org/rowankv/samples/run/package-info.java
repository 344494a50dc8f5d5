/** What the samples share: progress, directories, child processes. */
@NullMarked
package org.rowankv.samples.run;

import org.jspecify.annotations.NullMarked;
