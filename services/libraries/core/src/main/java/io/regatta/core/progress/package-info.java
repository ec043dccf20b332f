/**
 * The interface through which a run reports its progress, and the loading of its data, while it continues. Reader
 * threads and training loops call it; consoles and callers implement it. Part of the public API.
 */
package io.regatta.core.progress;
