from app.settings import load_settings
from app.wiring.chain import confidence_strategy
from chains.confidence import (
    CalibratedConfidence,
    CompositeConfidence,
    Thresholds,
    WithoutFactors,
    score_confidence,
    without_confidence,
)


def strategy(**settings):
    return confidence_strategy(load_settings(**settings))


def test_the_settings_name_the_strategy_its_thresholds_and_whether_its_factors_are_shown():
    thresholds = {"confidence_low_threshold": 0.1, "confidence_medium_threshold": 0.2, "confidence_high_threshold": 0.3}

    assert strategy(confidence_strategy="tiered") is score_confidence
    assert strategy(confidence_strategy="composite", retrieval_top_k=7, **thresholds) == CompositeConfidence(
        Thresholds(0.1, 0.2, 0.3), top_k=7
    )
    assert isinstance(strategy(), CalibratedConfidence)
    kept = strategy(confidence_strategy="tiered", confidence_include_factors="no")
    assert kept == WithoutFactors(score_confidence)
    assert strategy(confidence_enabled="no") is without_confidence
