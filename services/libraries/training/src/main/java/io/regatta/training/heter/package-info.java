/**
 * The seams between a session and a network that is cut, whose one part heter workers compute, and the backward pass
 * from given gradients. A {@code TrainerSession} gives them; it knows no model.
 */
package io.regatta.training.heter;
