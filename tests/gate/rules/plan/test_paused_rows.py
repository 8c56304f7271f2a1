from reports.records.codec_rows import ArmSample, PausedSample
from reports.records.measurement import Pause, PausedRow
from tests.gate.asking import ask
from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, honest_kv_quant, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))
ROW = NIAH.arms[0].measurements[0]
ASLEEP, STOPPED, AWAKE = Pause(asleep_s=30.0, stops=0), Pause(asleep_s=0.0, stops=1), Pause(asleep_s=0.09, stops=0)


def with_paused(*rows):
    return edit_arm(NIAH, NIAH.arms[0].name, lambda arm: arm.replace(paused=rows))


def asked(*rows):
    return [finding.message.partition(": ")[2] for finding in ask("PAUSED_ROWS", with_paused(*rows))]


def test_a_row_that_a_pause_broke_and_that_was_measured_again_is_sound():
    assert not ask("PAUSED_ROWS", NIAH)
    assert asked() == []
    assert asked(PausedRow(row=ROW, pause=ASLEEP), PausedRow(row=ROW, pause=STOPPED)) == []


def test_a_row_set_aside_without_a_pause_is_noticed():
    assert asked(PausedRow(row=ROW, pause=AWAKE)) == ["was set aside for a pause, with 0.09 s asleep and no stop"]


def test_a_row_set_aside_for_none_is_noticed():
    for row in (ROW.replace(repeat=1), ROW.replace(sample=9), ROW.replace(order=99)):
        assert asked(PausedRow(row=row, pause=ASLEEP)) == ["was set aside and not measured again in its place"]


def test_samples_of_codecs_are_held_to_the_same():
    report = honest_kv_quant(Setup(samples=2, repeats=1))
    result = report.kv_quant
    codecs = tuple(ArmSample(arm=arm.name, row=arm.samples[0]) for arm in result.arms)

    def found(oracle, pause):
        paused = (PausedSample(oracle=oracle, codecs=codecs, pause=pause),)
        return ask("PAUSED_ROWS", report.replace(kv_quant=result.replace(paused=paused)))

    assert not found(result.oracle[0], STOPPED)
    assert [finding.found for finding in found(result.oracle[0], AWAKE)] == ["0.09"]
    assert [finding.found for finding in found(result.oracle[0].replace(sample=7), ASLEEP)] == ["none"]
