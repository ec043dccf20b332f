/**
 * The seams between protocol code and the machine: time, timers, and the thread of an owner, as interfaces. Every
 * class that waits, retries or expires something takes them; production binds them to Vert.x and the system's clocks,
 * a simulation to one scheduler. Part of the public API.
 */
package io.regatta.core.loop;
