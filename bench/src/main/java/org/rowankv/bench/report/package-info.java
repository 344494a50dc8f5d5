/** What measurements share: tables of targets, draws of keys, child processes. */
@NullMarked
package org.rowankv.bench.report;

import org.jspecify.annotations.NullMarked;
