/**
 * The cut of a network whose one part heter workers compute: a program marks it with {@link
 * io.regatta.training.cut.Heter#remote}. Part of the public API.
 */
package io.regatta.training.cut;
