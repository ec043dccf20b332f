/**
 * The dense parameters of the part, where heter workers pull and push them for the trainers. The verticle creates the
 * exchange, and puts the host between its queue and the model thread.
 */
package io.regatta.heterworker.dense;
