/**
 * One rank's membership in a job as its model threads see it, {@link io.regatta.trainer.session.TrainerSession}, and the
 * one that needs no service, {@link io.regatta.trainer.session.LocalSession}.
 */
package io.regatta.trainer.session;
